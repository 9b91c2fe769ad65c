import { build } from 'esbuild'
import * as z from 'zod'
import { useChromium } from './browser.js'

const PAGE = 'http://localhost/'
const judgedSchema = z.array(z.object({ outcome: z.string(), code: z.string().nullable(), ms: z.number() }))

/** A script that gives a page `attestation.judgeAll`. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['test/browser/support/judgeAll.ts'],
    bundle: true,
    format: 'iife',
    globalName: 'attestation',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** The verifier in a page of the machine's Chromium: judges inputs one after another. `root` is the one that it trusts, and `origin` what it expects of the statement. */
export async function openVerifier(cleanUp: AsyncDisposableStack) {
  const context = await (await useChromium()).newContext()
  cleanUp.defer(() => context.close())
  const page = await context.newPage()
  // WebCrypto is there for secure origins alone, of which this machine's is one.
  await page.route(PAGE, (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(PAGE)
  await page.addScriptTag({ content: await bundle() })
  return async (inputs: readonly object[]) =>
    judgedSchema.parse(await page.evaluate(`attestation.judgeAll(${JSON.stringify(inputs)})`))
}
