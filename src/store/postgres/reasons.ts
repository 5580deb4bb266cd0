const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOENT: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  ETIMEDOUT: "it does not answer",
  EACCES: "the user may not use the socket",
  "28P01": "the user name or the password is wrong",
  28000: "the user may not connect like this",
  "3D000": "there is no such database on the server",
  42501: "the user lacks a right",
  53300: "the server has no connection left",
  "57P03": "the server is starting or stopping",
};

/** Errors that may be temporary while a server or its network starts. */
const temporaryCodes = [
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "53300",
  "57P03",
];

/** Returns whether a failed connection may succeed soon. */
export function isTransient(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return temporaryCodes.includes((error as { code?: string }).code ?? "");
}

/** PgBouncer's message about an unknown parameter. */
const startupParameter = /unsupported startup parameter(?: in options)?: (\w+)/;

/** Describes in words why a connection failed. */
export function describeFailure(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  const parameter = startupParameter.exec(message ?? "")?.[1];
  if (parameter !== undefined) {
    return `the pooler there does not take \`${parameter}\` of the address. Leave it out, and set it for the user or the database with \`alter role … set\`; or let PgBouncer pass over it: ignore_startup_parameters = ${parameter}`;
  }
  return (code !== undefined && reasons[code]) || message || String(code);
}
