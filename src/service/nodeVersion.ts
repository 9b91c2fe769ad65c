/** The oldest Node that the programs run on; `engines` in package.json says the same. */
export const OLDEST_NODE = 24

/** Ends a program that an older Node has started. To be called first: the older one would fail later, with an obscure error. */
export function requireNode(): void {
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE) return
  process.stderr.write(
    `This program needs Node ${OLDEST_NODE} or newer, and ${process.execPath} is ${process.version}.\n` +
      'npm ci installs a newer one for this repository; npm run and node_modules/.bin/node use it.\n',
  )
  process.exit(1)
}
