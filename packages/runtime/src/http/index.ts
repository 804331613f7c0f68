export { addEndpoints } from "./endpoints.ts";
export { type RouteHandler, Router, send, sendJson, sendText } from "./router.ts";
export { type HttpServer, type HttpServerOptions, startHttpServer } from "./server.ts";
