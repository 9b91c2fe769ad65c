// esbuild puts these in the place of Node's globals, and into the bundle as soon as one of them is mentioned.
const absent = { inBrowsers: true }

export {
  absent as __dirname,
  absent as __filename,
  absent as Buffer,
  absent as clearImmediate,
  absent as process,
  absent as require,
  absent as setImmediate,
}
