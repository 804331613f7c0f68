import { profiles } from "../profile.ts";
import { edited, type Mutation, within } from "./mutation.ts";

const { watches } = profiles;

/** Bugs in what feeds watches: changes told twice, passed over, or missed without a word. */
export const watchMutations: readonly Mutation[] = [
  edited("tells a watcher a change that it was told before", ["I17"], {
    module: "reader",
    file: "watch-view.js",
    find: "if (sequence <= revision)",
    replace: "if (false)",
  }),
  edited("resumes a watch without what it has missed", ["I18"], {
    module: "reader",
    file: "watch-view.js",
    find: "model.hub.changesAfter(token.revision);",
    replace: "model.hub.changesAfter(token.revision) && [];",
  }),
  edited("starts over without telling watchers", ["I17", "I18"], {
    module: "reader",
    file: "watch-hub.js",
    find: "listener.onGap();",
    replace: ";",
  }),
].map((mutation) => within(watches, mutation));
