import { createConnection } from "node:net";
import { Fault } from "@tenure/kernel";

/**
 * One NATS request over a bare socket, for the testkit's own tests: only the bus and the log import the NATS client.
 * User and password come from the address.
 */
export function rawRequest(url: string, subject: string, payload: string, timeoutMs = 10_000): Promise<string> {
  const { hostname, port, username, password } = new URL(url);
  const options = { verbose: false, ...(username === "" ? {} : { user: username, pass: password }) };
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    let received = "";
    // One character a byte, so that lengths can be counted.
    socket.setEncoding("latin1").setTimeout(timeoutMs, () => socket.destroy(unanswered(subject, received)));
    socket.on("connect", () => {
      socket.write(`CONNECT ${JSON.stringify(options)}\r\nSUB reply 1\r\n`);
      socket.write(`PUB ${subject} reply ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
    });
    socket.on("data", (chunk: string) => {
      received += chunk;
      const answer = answerIn(received);
      if (answer !== undefined) resolve(answer);
      else if (received.includes("-ERR")) reject(unanswered(subject, received));
      else return;
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(unanswered(subject, received)));
  });
}

/** The payload of the first message, once it is there as a whole. */
function answerIn(received: string): string | undefined {
  const head = /\r\nMSG reply 1 +(\d+)\r\n/.exec(received);
  if (head === null) return undefined;
  const start = head.index + head[0].length;
  const length = Number(head[1]);
  if (received.length < start + length) return undefined;
  return Buffer.from(received.slice(start, start + length), "latin1").toString("utf8");
}

function unanswered(subject: string, received: string): Fault {
  const errors = received.split("\r\n").filter((line) => line.startsWith("-ERR"));
  const message = `no answer on ${subject} ${errors.join(" ")}`;
  return new Fault({ code: "UNAVAILABLE", reason: "NO_ANSWER", message });
}
