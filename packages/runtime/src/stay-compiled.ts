import { setFlagsFromString } from "node:v8";

/** So long a process rests before V8 makes it small. */
const patienceMs = 60_000;

/**
 * Has V8 keep what it has compiled. Of a process that does little for eight seconds it thinks that memory matters more
 * than speed: it collects until nothing more can be given back, and throws away the code that was compiled for shapes of
 * objects of which there are none at that moment, such as calls. What coordinates others rests most of the time, and is
 * needed at once when it does not.
 */
export function stayCompiled(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${patienceMs}`);
}
