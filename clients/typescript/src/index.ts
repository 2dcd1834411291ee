export { Client } from "./client.ts";
export type { ClientOptions } from "./client.ts";
export type { DeprecationNotice } from "./deprecation.ts";
export {
  AuthenticationFailed,
  CallwrightError,
  Conflict,
  InvalidArguments,
  InvalidRequest,
  InvalidSignature,
  NotFound,
  PermissionRefused,
  RateLimited,
  RuleRejected,
  ServiceFailed,
  ServiceTimeout,
  ServiceUnreachable,
  UnexpectedAnswer,
} from "./errors.ts";
export type { FieldProblem } from "./errors.ts";
export type * from "./generated/inputs.ts";
export { Surface } from "./generated/nouns.ts";
export * as operations from "./generated/operations.ts";
export { problems } from "./generated/problems.ts";
export type { ProblemCode } from "./generated/problems.ts";
export type * from "./generated/schemas.ts";
export { Listing } from "./listing.ts";
export type { Operation, Page } from "./operation.ts";
export { verify } from "./receiving.ts";
export type { ReceivedEvent, VerifyOptions } from "./receiving.ts";
export type { Retries } from "./retry.ts";
export type { CallOptions, MediaOptions } from "./session.ts";
