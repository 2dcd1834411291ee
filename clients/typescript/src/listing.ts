import { UnexpectedAnswer } from "./errors.ts";
import type { Page } from "./operation.ts";

/** Entries per request of a walk when the caller names no `per_page`: the most a page may have. */
export const WALK_PER_PAGE = 200;

/**
 * A list that has not been asked for yet. `await` gives the one page that was asked for. `for await` gives every entry
 * from there on, and `pages()` every page, following `next_cursor`; entries that others add meanwhile neither repeat nor
 * hide what was there. Every await or loop asks the service again.
 */
export class Listing<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #name: string;
  readonly #input: object;
  readonly #ask: (input: object) => Promise<Page<T>>;

  constructor(name: string, input: object, ask: (input: object) => Promise<Page<T>>) {
    this.#name = name;
    this.#input = input;
    this.#ask = ask;
  }

  then<A = Page<T>, B = never>(
    resolved?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#ask(this.#input).then(resolved, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Every page from the one asked for. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let input: Record<string, unknown> = { per_page: WALK_PER_PAGE, ...withoutUndefined(this.#input) };
    const seen = new Set<string>();
    for (;;) {
      const page = await this.#ask(input);
      yield page;
      if (!page.pagination.has_more) return;
      const cursor = page.pagination.next_cursor;
      if (!cursor || seen.has(cursor)) {
        const way = cursor ? "with a next_cursor given before" : "without next_cursor";
        throw new UnexpectedAnswer(`a page of ${this.#name} says that more follows, ${way}`);
      }
      seen.add(cursor);
      const { page: _, ...rest } = input;
      input = { ...rest, cursor };
    }
  }
}

function withoutUndefined(input: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
