/**
 * The text with the login of every URL in it replaced: `nats://user:secret@host` shows `nats://***@host`. A password
 * may hold any character but white space, quotes and commas, so everything up to the last `@` of a URL goes. A login without a scheme, `user:secret@host`, is one too.
 */
export function redactLogins(text: string): string {
  return text.replaceAll(/:\/\/[^\s",]*@/g, "://***@").replaceAll(/(?<=^|[\s",])[^\s",@/]+:(?!\/\/)[^\s",]*@/g, "***@");
}
