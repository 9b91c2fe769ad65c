// Preloaded into a server (`node --import`): its sender counts its steps, so the server needs no code for it.
import { registerHooks } from 'node:module'

const STEPPED = new URL('./steppedSender.mjs', import.meta.url).href
const OWN = 'function createSender('

/** The server is one file, whose own sender is renamed and wrapped. */
function withSteppedSender(server) {
  if (server.split(OWN).length !== 2) throw new Error('the server has no createSender, or several')
  return `${server.replace(OWN, 'function createOwnSender(')}
import { createSteppedSender } from '${STEPPED}'
function createSender(options) {
  return createSteppedSender(createOwnSender, options)
}
`
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith('/dist/server/main.js')) return loaded
    return { ...loaded, source: withSteppedSender(Buffer.from(loaded.source).toString()) }
  },
})
