import { expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { enact, propose } from '../support/corporateActions.js'
import { setUpInstitution } from '../support/institution.js'

const chain = useChain(setUpInstitution)

const refused = (action: readonly unknown[]) => chain().revert('dave', 'actions', 'enact', action)

it('a payment of a dividend waits for no other action, and none waits for it', async () => {
  const now = await chain().now()
  await enact(chain(), { kind: 'ENTITLEMENT', symbol: 'AAPL', recordAt: now })
  const split = { kind: 'SPLIT', symbol: 'AAPL', ratio: [2n, 1n] } as const
  const [first, payment, last] = [
    await propose(chain(), { ...split, recordAt: now + 1 }),
    await propose(chain(), { kind: 'PAYMENT', symbol: 'AAPL', recordAt: now + 2, ratio: [1n, 1n] }),
    await propose(chain(), { ...split, recordAt: now + 3 }),
  ]
  await chain().mineAt(now + 60)
  await chain().send('dave', 'actions', 'enact', first)
  await chain().send('dave', 'actions', 'enact', last)
  await chain().send('dave', 'actions', 'enact', payment)
})

it('an equity has sixteen names at most, so that no transfer costs more without bound', async () => {
  const recordAt = await chain().now()
  const change = (at: number) =>
    ({ kind: 'SYMBOL_CHANGE', symbol: `A${at}`, successor: `A${at + 1}`, recordAt }) as const
  for (let at = 1; at < 16; at++) await enact(chain(), change(at))
  const seventeenth = nameToBytes32('A17')
  const tooMany = { name: 'TooManyNames', args: { successor: seventeenth } }
  expect(await refused(await propose(chain(), change(16)))).toEqual(tooMany)
  const names = Array.from({ length: 16 }, (_, at) => nameToBytes32(`A${at + 1}`))
  for (const name of names) expect(await chain().read('actions', 'namesOf', name)).toEqual(names)
  expect(await chain().read('actions', 'namesOf', seventeenth)).toEqual([seventeenth])
})
