// Signs in with a passkey, and adds one. Everything else works without scripts.

const status = document.querySelector("[data-passkey-status]");

/** Sends a request to this server. Returns its JSON. */
async function request(path, body) {
  const options = body && {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(`/auth/passkey/${path}`, { ...options, credentials: "same-origin" });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

async function signIn(next) {
  const options = await request("generate-authenticate-options");
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, userVerification: "required" });
  const credential = await navigator.credentials.get({ publicKey });
  await request("verify-authentication", { response: credential.toJSON() });
  location.assign(next);
}

async function add(name) {
  const options = await request("generate-register-options");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey });
  await request("verify-registration", { response: credential.toJSON(), name });
  location.reload();
}

/** Shows a control that needs scripts, and runs its work when it is used. */
function enable(selector, event, work) {
  for (const element of document.querySelectorAll(selector)) {
    element.hidden = false;
    element.addEventListener(event, async (happened) => {
      happened.preventDefault();
      status.hidden = true;
      try {
        await work(element);
      } catch {
        status.hidden = false;
        status.focus();
      }
    });
  }
}

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  enable("[data-passkey-sign-in]", "click", (button) => signIn(button.dataset.next));
  enable("[data-passkey-add]", "submit", (form) => add(new FormData(form).get("name") || "Passkey"));
}
