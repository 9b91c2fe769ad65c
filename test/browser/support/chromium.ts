import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The names of Chromium and Chrome in their packages. The first has no windows, and takes a third of the others' CPU while a page idles. */
const NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome-stable', 'google-chrome'],
]

/** There is no browser to test with; the message says how to get one. */
export class NoChromiumError extends Error {
  override readonly name = 'NoChromiumError'

  constructor(reason: string) {
    super(
      `${reason} The browser tests need Chromium or Chrome and install nothing by themselves. ` +
        'On Debian: apt-get install -y chromium-headless-shell. Where it has another name or place, set CHROMIUM_PATH to it.',
    )
  }
}

/**
 * Chromium's program: the one at `CHROMIUM_PATH`, else the first that `PATH` has under a usual name.
 * @throws NoChromiumError
 */
export function chromiumPath(environment: Record<string, string | undefined>): string {
  const { CHROMIUM_PATH: chosen, PATH: directories = '' } = environment
  const places = directories.split(delimiter)
  const paths = chosen === undefined ? NAMES.flatMap((name) => places.map((at) => join(at, name))) : [chosen]
  const found = paths.find(isProgram)
  if (found !== undefined) return found
  if (chosen !== undefined) throw new NoChromiumError(`CHROMIUM_PATH is no program: ${chosen}.`)
  throw new NoChromiumError(`PATH has none of ${NAMES.join(', ')}.`)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
