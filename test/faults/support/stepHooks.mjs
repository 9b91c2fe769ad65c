// Puts the outbox that counts its steps in the place of the server's own.
const STAND_IN = new URL('./steppedOutbox.mjs', import.meta.url).href

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  const isOutbox = found.url.endsWith('/server/relay/outbox.js')
  return isOutbox && context.parentURL !== STAND_IN ? { ...found, url: STAND_IN } : found
}
