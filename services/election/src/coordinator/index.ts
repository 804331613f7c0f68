export { Coordination, type CoordinationListener, type CoordinationOptions } from "./coordination.ts";
