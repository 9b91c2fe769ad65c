// Loaded into the server before its own program (`--import`): tells what it holds, when asked. Plain JavaScript, so
// that nothing that compiles is in that process.
import { readdirSync } from 'node:fs'

process.on('message', () => {
  // Twice: objects that the first one has finalised are free after the second.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().length
  const descriptors = readdirSync('/proc/self/fd').length
  process.send?.({ heapUsed, handles, descriptors })
})
// The channel must not keep a server running that stops.
process.channel?.unref()
