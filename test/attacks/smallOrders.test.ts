// Actor: a cleared employee with many small positions.
// Cost: her own gas to open orders of 1.40 USD.
// Effect: no gain for her, and harm to the platform. A portfolio of 140 positions is a blob of several
// kilobytes, and each order writes it three times at the relayer's cost. A sale of 1.40 USD took 4.5 M gas, 23
// times what she pays. A blob that shrank after a sale and grew again after a buy cost as much once more.
// Now: an order has a least amount, except for a whole balance. A blob keeps its size while a portfolio shrinks
// by less than two blocks. test/enclave/admission.test.ts has the least amounts.
import { expect, it } from 'vitest'
import { createConfidentialLedger } from '../../src/chain/contracts.js'
import { hexLength } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { buy } from '../enclave/support/scenarios.js'
import { useWorld } from '../enclave/support/world.js'

const world = useWorld()

it('a blob on the chain that grew for open orders keeps its size once they have ended', async () => {
  const { chain, broker } = world()
  const ledger = createConfidentialLedger(chain.provider, chain.addresses.confidentialLedger)
  const size = async () => hexLength(await ledger.enclaveBlob(accountIdOf(chain.account('alice'))))
  await world().settled(buy(100))
  const before = await size()
  broker.control.fill({ mode: 'hold' })
  const open = []
  while ((await size()) === before) {
    const order = await world().open(buy(100))
    expect(await world().run(order)).toMatchObject({ outcome: 'placed' })
    open.push(order)
  }
  const grown = await size()
  broker.control.release({})
  for (const order of open) expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
  expect(await size()).toBe(grown)
})
