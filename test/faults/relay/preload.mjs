// Preloaded into a server (`node --import`): replaces its sender by one that counts its steps, so the server needs no code for it.
import { registerHooks } from 'node:module'

const STAND_IN = new URL('./steppedSender.mjs', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const isSender = found.url.endsWith('/server/txManager/sender.js')
    return isSender && context.parentURL !== STAND_IN ? { ...found, url: STAND_IN } : found
  },
})
