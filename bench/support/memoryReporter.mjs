// Loaded into the measured server before its own program (`--import`): tells what memory it holds, when asked. Plain
// JavaScript, so that nothing that compiles is in that process.
process.on('message', () => {
  // What is garbage by now is not held. With `--expose-gc` alone.
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  process.send?.({ heapUsed, rss })
})
// The channel must not keep a server running that stops.
process.channel?.unref()
