import { chromiumPath, NoChromiumError } from './chromium.js'

/** Before the first test: says in one line what is missing, instead of in every file with a stack. */
export default function findChromium(): void {
  try {
    chromiumPath(process.env)
  } catch (error) {
    if (!(error instanceof NoChromiumError)) throw error
    process.stderr.write(`test:browser: ${error.message}\n`)
    process.exit(1)
  }
}
