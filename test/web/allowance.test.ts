import { expect, it } from 'vitest'
import type { Prompt } from '../../src/client/index.js'
import { allowanceFor, allowanceWords, wouldSaveRequests } from '../../web/orders/allowance.js'

const promptOf = (step: Prompt['step'], kind: Prompt['kind'] = 'transaction'): Prompt => ({
  step,
  kind,
  why: step,
})
const KEY = [promptOf('unlocking', 'signature'), promptOf('unlocking', 'signature')]
const ORDER = promptOf('signing', 'signature')
const SIGNED = [ORDER, promptOf('authorizing', 'signature'), promptOf('opening')]
const APPROVED = [ORDER, promptOf('approving'), promptOf('opening')]

it.each<[string, boolean, readonly Prompt[]]>([
  ['signs each payment', true, SIGNED],
  ['approves each payment', true, APPROVED],
  ['has allowed enough', false, [ORDER, promptOf('opening')]],
  ['batches', false, [ORDER, promptOf('opening', 'batch')]],
  ['signs alone, and the platform pays', false, [ORDER, promptOf('authorizing', 'signature')]],
])('an allowance for later orders is offered to a wallet that %s: %s', (_wallet, isOffered, plan) => {
  expect(wouldSaveRequests([...KEY, ...plan])).toBe(isOffered)
})

it('the choice of an allowance says how often the wallet is asked, now and for each later order', () => {
  const units = 250_000_000n
  expect(allowanceFor(units)).toBe(2_500_000_000n)
  const once = allowanceWords('order', units, [...KEY, ...SIGNED])
  expect(once).toMatch(
    /may take 250\.00 USDC for this order.* 5 times now, and 3 times for each later order\.$/,
  )
  const later = allowanceWords('later', units, [...KEY, ...APPROVED])
  expect(later).toMatch(/up to 2,500\.00 USDC .* 5 times now, and 2 times for each later order\.$/)
})
