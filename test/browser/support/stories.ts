// Runs in a page: what a person would do there, as a browser that nothing drives can do it by itself.
import { type ExtensionOptions, extend } from './extension.js'
import { type Judging, judgeAll } from './judgeAll.js'

const PATIENCE_MS = 120_000

/** What the page gets from its server. */
export interface Given {
  readonly wallet: ExtensionOptions
  readonly judgings: readonly Judging[]
}

/** Each story by the address at which it is told. Resolves with what the person sees in the end. */
const STORIES: Record<string, (given: Given) => Promise<unknown>> = {
  '/starter/': async ({ wallet }) => {
    extend(wallet)
    await click('button')
    await seen('p', 'SETTLED')
    return (await seen('pre', 'AAPL')).textContent
  },
  '/verifier/': async ({ judgings }) =>
    (await judgeAll(judgings)).map(({ outcome, code }) => ({ outcome, code })),
  '/': async () => {
    const usdc = new URLSearchParams(location.search).get('usdc') ?? ''
    await click('button', 'Ada')
    await seen('.account')
    await enter('#ticket-symbol', 'AAPL')
    await enter('#ticket-amount', usdc)
    await click('button', 'Buy AAPL')
    return (await seen('.order[data-state=SETTLED] [data-test=fill]', `, ${usdc}.00 USDC`)).textContent
  },
}

async function seen(selector: string, text = ''): Promise<HTMLElement> {
  for (const start = Date.now(); Date.now() - start < PATIENCE_MS; ) {
    for (const element of document.querySelectorAll<HTMLElement>(selector)) {
      if (element.textContent.includes(text)) return element
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`"${text}" does not come to ${selector}: ${document.body.innerText}`)
}

async function click(selector: string, text?: string): Promise<void> {
  const button = await seen(`${selector}:not(:disabled)`, text)
  button.click()
}

async function enter(selector: string, value: string): Promise<void> {
  const field = await seen(selector)
  Object.assign(field, { value })
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
}

async function tell(): Promise<unknown> {
  const story = STORIES[location.pathname]
  const given: Given = await (await fetch('/given')).json()
  return story?.(given)
}

const outcome = await tell().then(
  (told) => ({ told }),
  (error: unknown) => ({ failed: String(error) }),
)
await fetch('/told', { method: 'POST', body: JSON.stringify(outcome) })
