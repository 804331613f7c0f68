export { collisionToWire, takeoverNote } from "./collision-to-wire.ts";
export { type StoredProfile, storedProfile } from "./stored-profile.ts";
