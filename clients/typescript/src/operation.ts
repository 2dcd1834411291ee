import type { Pagination } from "./generated/schemas.ts";

/** What travels for an operation. `types` is never there: it carries what the operation takes and gives. */
export interface Operation<In, Out> {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the version prefix, with `{field}` where a field of the input stands. */
  readonly path: string;
  readonly shape: "one" | "many" | "nothing" | "media";
  /** The fields that travel in the query, each with its name there. */
  readonly query: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  readonly mediaTypes: readonly string[];
  readonly types?: (input: In) => Out;
}

/** One page of a list. */
export interface Page<T> {
  data: T[];
  pagination: Pagination;
}
