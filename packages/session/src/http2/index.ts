export { FrameType, headBytes, readSettings } from "./frames.ts";
export type { Headers } from "./header-block.ts";
export { frameMessage, MessageReader, Unreadable } from "./message-frames.ts";
export { clientOpening, preface, Setting, serverOpening } from "./opening.ts";
export { StreamConnection, type StreamListener } from "./stream-connection.ts";
