import { build } from 'esbuild'
import { z } from 'zod'
import { useChromium } from './browser.js'

const PAGE = 'http://localhost/'
/** Runs in the page. */
const ENTRY = `
import { judge } from './src/attestation/judge.ts'
import { createStartingVerifier } from './src/attestation/starting.ts'
import { BORN } from './src/attestation/statement.ts'
import { dstackBelow } from './src/attestation/tdx/index.ts'
import { createVerifier } from './src/attestation/verify.ts'
export async function judgeAll(inputs) {
  const judged = []
  for (const { root, origin, ...input } of inputs) {
    const start = performance.now()
    const { outcome, code = null } = await judge(origin === 'starting' ? createStartingVerifier(root) : createVerifier(BORN, root, undefined, dstackBelow(root)), input)
    judged.push({ outcome, code, ms: performance.now() - start })
  }
  return judged
}
`
const judgedSchema = z.array(z.object({ outcome: z.string(), code: z.string().nullable(), ms: z.number() }))

/** The verifier in a page of the machine's Chromium: judges inputs one after another. `root` is the one that it trusts, and `origin` what it expects of the statement. */
export async function openVerifier(cleanUp: AsyncDisposableStack) {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: '.' },
    bundle: true,
    format: 'iife',
    globalName: 'attestation',
    write: false,
  })
  const context = await (await useChromium()).newContext()
  cleanUp.defer(() => context.close())
  const page = await context.newPage()
  // WebCrypto is there for secure origins alone, of which this machine's is one.
  await page.route(PAGE, (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(PAGE)
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
  return async (inputs: readonly object[]) =>
    judgedSchema.parse(await page.evaluate(`attestation.judgeAll(${JSON.stringify(inputs)})`))
}
