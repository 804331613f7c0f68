/**
 * The image's health check: exit code 0 if this container answers /readyz with 200, otherwise 1 and the answer,
 * which names each condition that is not met.
 *
 *   health [port]     default 8369
 */
import { get } from "node:http";

/** Below the health check's own limit, so that the reason is still printed. */
const timeoutMs = 3_000;
const port = Number(process.argv[2] ?? 8369);

/**
 * Prints why the container is not ready and ends with the code of an unhealthy one.
 * @param {string} why
 */
function unhealthy(why) {
  process.stdout.write(`${why}\n`);
  process.exit(1);
}

const request = get({ host: "127.0.0.1", port, path: "/readyz", timeout: timeoutMs }, (response) => {
  let body = "";
  response.setEncoding("utf8");
  response.on("data", (chunk) => {
    body += chunk;
  });
  response.on("end", () => {
    if (response.statusCode !== 200) unhealthy(`${response.statusCode} ${body.trim()}`);
    process.exit(0);
  });
});
request.on("timeout", () => unhealthy(`no answer from port ${port} within ${timeoutMs} ms`));
request.on("error", (error) => unhealthy(`no answer from port ${port}: ${error.message}`));
