// What `npm start` runs once everything is installed and built.
import { main } from "./main.ts";

await main(process.argv.slice(2), process.env);
