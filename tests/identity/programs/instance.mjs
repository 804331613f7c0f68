// A process that registers and lives: instance.mjs <way> <where> <component> [naming]. Prints what becomes of it.
import { connect } from "@tenure/sdk";

const [way, where, component, naming = "fresh"] = process.argv.slice(2);
const say = (news) => {
  const { collision, id, kind } = news;
  const other = collision === undefined ? "" : ` ${collision.otherProcessId}`;
  process.stdout.write(`${kind} ${id}${other}\n`);
};
const reach = way === "nats" ? { nats: { servers: [where] } } : { endpoint: where };
const tenure = await connect({
  ...reach,
  connectTimeout: "60s",
  namespace: "tests",
  register: { component, host: "host", naming, onChange: say },
});
process.on("SIGTERM", () => void tenure.close());
