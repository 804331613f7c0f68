export { Presence, type PresenceDetails, type PresenceOptions, presenceIntervalMs } from "./presence.ts";
export { type PresenceListener, type PresenceWatch, silenceMs, watchPresence } from "./watch-presence.ts";
