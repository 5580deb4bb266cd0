import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { HostPage } from "./messages.ts";

const page = window as unknown as HostPage;
const frame = document.createElement("iframe");
frame.title = "View";
// An origin of its own, as hosts give to views.
frame.sandbox.add("allow-scripts");
frame.style.cssText = "width: 100%; height: 200px; border: 0";
document.body.append(frame);

/** Shows a view as a host does: by the bridge of the extension's package, which checks each message. */
page.showView = async ({ document: source, input, result, context, capabilities }) => {
  const view = frame.contentWindow as Window;
  const bridge = new AppBridge(null, { name: "test-host", version: "1.0.0" }, capabilities, { hostContext: context });
  bridge.oncalltool = (params) => page.callServer(params);
  bridge.onreadresource = ({ uri }) => page.readServer(uri);
  bridge.onupdatemodelcontext = async ({ content }) => {
    await page.record("context", content);
    return {};
  };
  bridge.onopenlink = async (params) => {
    await page.record("link", params);
    return {};
  };
  bridge.onsizechange = (size) => {
    frame.style.height = `${size.height}px`;
    void page.record("size", size);
  };
  const initialized = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(new PostMessageTransport(view, view));
  frame.srcdoc = source;
  await initialized;
  await page.record("initialized", bridge.getAppVersion());
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
  page.changeContext = async (change) => bridge.setHostContext({ ...context, ...change });
  page.sendResult = (next) => bridge.sendToolResult(next);
  page.teardown = async () => {
    await page.record("teardown", await bridge.teardownResource({}));
    frame.remove();
  };
};
