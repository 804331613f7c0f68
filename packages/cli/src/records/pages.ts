import type { Page } from "@tenure/contracts";

/** The records of all pages of a list. */
export async function* pages<Item>(
  read: (token: string) => Promise<{ readonly items: readonly Item[]; readonly page: Page | undefined }>,
): AsyncGenerator<Item, void, undefined> {
  let token = "";
  do {
    const { items, page } = await read(token);
    yield* items;
    token = page?.nextToken ?? "";
  } while (token !== "");
}
