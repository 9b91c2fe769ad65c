// Preloaded into the server's process (`node --import`), so that the server itself knows nothing of the bench.
import { register } from 'node:module'

register('./stepHooks.mjs', import.meta.url)
