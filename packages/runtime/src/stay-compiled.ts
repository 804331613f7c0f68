import { setFlagsFromString } from "node:v8";

/** How long after its last full collection V8 may make a process that rests small. */
const patienceMs = 600_000;

/**
 * Has V8 keep what it has compiled. Of a process that does little it thinks, eight seconds after a full collection, that
 * memory matters more than speed: it collects until nothing more can be given back, and throws away the code that was
 * compiled for shapes of objects of which there are none at that moment, such as calls. What coordinates others rests most
 * of the time, and is needed at once when it does not.
 */
export function stayCompiled(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${patienceMs}`);
}
