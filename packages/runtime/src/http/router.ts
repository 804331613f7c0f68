import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers one request. It may stream; a promise that rejects becomes a 500 when nothing was sent yet. */
export type RouteHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

/**
 * Finds who answers a path: an exact route first, else the longest route that ends in `/` and begins the path. Only
 * GET and HEAD are served; Node leaves out the body of a HEAD answer.
 */
export class Router {
  readonly #routes = new Map<string, RouteHandler>();

  /** Adds a route: `/metrics` for one path, `/console/` for everything below. A path has one owner. */
  route(path: string, handler: RouteHandler): void {
    if (!path.startsWith("/")) throw new TypeError(`route ${path}: a path begins with /`);
    if (this.#routes.has(path)) throw new TypeError(`route ${path} is there already`);
    this.#routes.set(path, handler);
  }

  /** Answers the request: 404 for a path without a route, 405 for another method. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = parseUrl(request);
    const handler = url === undefined ? undefined : this.#find(url.pathname);
    if (url === undefined || handler === undefined) return sendText(response, 404, "not found\n");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return sendText(response, 405, "only GET and HEAD are allowed here\n");
    }
    await handler(request, response, url);
  }

  #find(path: string): RouteHandler | undefined {
    const exact = this.#routes.get(path);
    if (exact !== undefined) return exact;
    for (let slash = path.lastIndexOf("/"); slash >= 0; slash = path.lastIndexOf("/", slash - 1)) {
      const handler = this.#routes.get(path.slice(0, slash + 1));
      if (handler !== undefined) return handler;
      if (slash === 0) break;
    }
    return undefined;
  }
}

/** The host of a request's URL is never used, so any will do. */
function parseUrl(request: IncomingMessage): URL | undefined {
  const target = `http://localhost${request.url ?? "/"}`;
  return URL.canParse(target) ? new URL(target) : undefined;
}

/** Sends a whole answer. */
export function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": bytes.length,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(bytes);
}

/** Sends a line of text. */
export function sendText(response: ServerResponse, status: number, body: string): void {
  send(response, status, "text/plain; charset=utf-8", body);
}

/** Sends a value as JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, "application/json; charset=utf-8", `${JSON.stringify(value)}\n`);
}
