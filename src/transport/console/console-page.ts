import type { User } from "../../contract/access/roles.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import { findSignedIn, type PageContext, type PeopleServices, redirectToSignIn } from "../people/browser-request.ts";
import { createPageReader, describeReading, type PageReader } from "./page-reader.ts";

/** The services that the pages of the console need. */
export interface ConsoleServices {
  readonly people: PeopleServices;
  /** The pipeline of the embedded service. Undefined with a remote service, whose records the console does not show. */
  readonly pipeline: OperationPipeline | undefined;
}

/** A request of a person who is signed in. */
export interface ConsoleRequest {
  readonly context: PageContext;
  readonly user: User;
  /** Reads the records that the person may see. Undefined with a remote service. */
  readonly reader: PageReader | undefined;
}

type Show = (request: ConsoleRequest) => Response | Promise<Response>;

/** Returns the person behind a request, with the reader of records. Undefined if nobody is signed in. */
export async function openConsoleRequest(
  { people, pipeline }: ConsoleServices,
  context: PageContext,
): Promise<ConsoleRequest | undefined> {
  const signedIn = await findSignedIn(people, context);
  if (!signedIn) return undefined;
  const { user } = signedIn;
  return { context, user, reader: pipeline && createPageReader(pipeline, describeReading(context, user)) };
}

/** Creates the handler of a page for people who are signed in. Others are led to the page for signing in. */
export function createConsoleHandler(services: ConsoleServices, show: Show) {
  return async (context: PageContext): Promise<Response> => {
    const request = await openConsoleRequest(services, context);
    return request ? show(request) : redirectToSignIn(context);
  };
}
