// The facts on which admission decides, read from a real chain. Its rules are rows of a table: admission.test.ts.
import { expect, it } from 'vitest'
import { createChainState } from '../../src/enclave/chainState.js'
import type { Look } from '../../src/enclave/heads.js'
import type { ChainFacts } from '../../src/enclave/order/admission.js'
import { readChainFacts } from '../../src/enclave/order/read.js'
import { createPolicyStore } from '../../src/enclave/stores.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { emptyPortfolio, type Portfolio } from '../../src/protocol/portfolio.js'
import { ENCLAVE_KEYS, ORG_ID, rulesFor, sealRulebook, USER_PUBKEY } from './support/parties.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const AAPL = nameToBytes32('AAPL')

function reader() {
  const { chain } = world()
  const state = createChainState(world().deps())
  const run = { chain: state, policies: createPolicyStore(state, ENCLAVE_KEYS) }
  const terms = { account: chain.account('alice'), symbol: 'AAPL', deposited: null }
  return {
    look: () => state.look(),
    factsAt: (look: Look, portfolio: Portfolio | null = null) => readChainFacts(run, terms, portfolio, look),
  }
}

it('the enclave reads each fact by itself, of the account and the symbol', async () => {
  const { chain } = world()
  const alice = chain.account('alice')
  const { look, factsAt } = reader()
  const holding = { ...emptyPortfolio(USER_PUBKEY), positions: { AAPL: { qty: 1n, locked: 0n } } }
  let expected: ChainFacts = {
    blockTime: 0,
    member: true,
    admitted: true,
    leaving: false,
    policy: rulesFor(chain),
    kyc: true,
    names: ['AAPL'],
    frozen: false,
    listed: true,
    removed: false,
  }
  const expectNow = async (change: Partial<ChainFacts>) => {
    const now = await look()
    expected = { ...expected, ...change, blockTime: now.head.timestamp }
    expect(await factsAt(now, holding)).toEqual([expected])
  }
  await expectNow({})
  // The neighbour's flags, and another symbol's, are not this order's.
  await chain.send('owner', 'token', 'setKyc', chain.account('bob'), false)
  await chain.send('owner', 'token', 'setFrozen', AAPL, chain.account('bob'), true)
  await chain.send('owner', 'token', 'setFrozen', nameToBytes32('MSFT'), alice, true)
  await expectNow({})
  await chain.send('owner', 'token', 'setListed', nameToBytes32('MSFT'), false)
  await expectNow({})
  await chain.send('owner', 'token', 'setKyc', alice, false)
  await expectNow({ kyc: false })
  await chain.send('owner', 'token', 'setFrozen', AAPL, alice, true)
  await expectNow({ frozen: true })
  await chain.send('owner', 'token', 'setListed', AAPL, false)
  await expectNow({ listed: false })
  const rules = rulesFor(chain, { maxOrderNotional: 1n })
  expect(await world().policy(await sealRulebook(chain, rules, 2))).toMatchObject({ outcome: 'accepted' })
  await expectNow({ policy: rules })
  await chain.send('owner', 'registry', 'setAdmitted', ORG_ID, chain.account('admin'), false)
  await expectNow({ admitted: false })
  await chain.send('alice', 'registry', 'leaveInstitution')
  await expectNow({ leaving: true })
  await chain.send('admin', 'registry', 'setMember', alice, false)
  await expectNow({ member: false, policy: null, leaving: false })
})

it('the enclave reads the facts at the head and at the stated depth', async () => {
  const { chain } = world()
  const { look, factsAt } = reader()
  const { head: deep } = await look()
  await chain.send('owner', 'token', 'setKyc', chain.account('alice'), false)
  const { head } = await look()
  expect(await factsAt({ head, deep })).toMatchObject([{ kyc: false }, { kyc: true }])
})
