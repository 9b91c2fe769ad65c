// Which portfolios stood at a moment, where a lost wallet's has moved in parts with writes between them.
import { expect, it } from 'vitest'
import { portfoliosAt } from '../../src/chain/earlierWrites.js'
import type { Authorization } from '../../src/protocol/authorization.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import { emptyPortfolio, type Portfolio } from '../../src/protocol/portfolio.js'
import {
  approvalOf,
  ENCLAVE_BLOB,
  orderOf,
  portfolioMove,
  refund,
  signedCall,
  USER_BLOB,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { openRequest, setUpInstitution } from '../support/institution.js'
import { approveMove } from '../support/oneOfEach.js'
import { rpcOf } from '../support/tappedRpc.js'

const chain = useChain(setUpInstitution)

/** The time of each version, as the portfolio in it says. A part of a move keeps the later time of both. */
const WRITTEN = { alice: [10, 20, 20, 50, 50], carol: [20, 40, 50] } as const
type Wallet = keyof typeof WRITTEN

it('a moment has the portfolios whose shares are the wallet’s today, before, between and after the parts of a move', async () => {
  const { send, account } = chain()
  const stored = { alice: { version: 0n, hash: ZERO_BYTES32 }, carol: { version: 0n, hash: ZERO_BYTES32 } }
  const blobs = { enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB }
  const next = (who: Wallet) => {
    const { version: before, hash: previous } = stored[who]
    const version = before + 1n
    stored[who] = { version, hash: portfolioHashAfter(previous, { version, ...blobs }) }
    return { version, previous }
  }
  const relay = (authorization: Authorization) => send('relayer', ...signedCall(chain(), authorization))
  async function write(who: Wallet) {
    const order = await orderOf(chain(), await openRequest(chain(), who, `${who} ${stored[who].version}`))
    await relay(refund(order, next(who)))
  }
  async function move(partsLeft: bigint) {
    const [from, to] = [account('alice'), account('carol')]
    const approval = await approvalOf(chain(), from)
    const [lost, own] = [next('alice'), next('carol')]
    const toWrite = { toVersion: own.version, toPrevious: own.previous }
    await relay(portfolioMove({ from, to, ...approval }, { partsLeft, ...lost, ...toWrite }))
  }
  await write('alice')
  await write('alice')
  await approveMove(chain(), 'alice', 'carol')
  await move(1n)
  await write('carol')
  await write('alice')
  await move(0n)

  /** Each as its wallet and version. */
  async function found(who: Wallet, moments: readonly number[], sealed: readonly Wallet[] = []) {
    const place = { rpc: rpcOf(chain()), ledger: chain().addresses.confidentialLedger, account: account(who) }
    const at = { ...place, stored: stored[who], head: await chain().provider.getBlockNumber() }
    const names = new Map<Portfolio, string>()
    const portfolios = await portfoliosAt(moments, at, async (each) => {
      const wallet = each.account === account('alice') ? 'alice' : 'carol'
      if (sealed.includes(wallet)) return undefined
      const portfolio = { ...emptyPortfolio('0x'), writtenAt: WRITTEN[wallet][Number(each.version) - 1] ?? 0 }
      names.set(portfolio, `${wallet} ${each.version}`)
      return portfolio
    })
    return Object.fromEntries(
      [...portfolios].map(([moment, all]) => [moment, all.map((each) => names.get(each))]),
    )
  }
  expect(await found('carol', [5, 15, 25, 45])).toEqual({
    // Before the lost wallet's first version, and at that.
    ...{ 5: [], 15: ['alice 1'] },
    // The rest was still the lost wallet's.
    ...{ 25: ['carol 1', 'alice 3'], 45: ['carol 2', 'alice 3'] },
  })
  expect(await found('alice', [5, 15, 25, 45])).toEqual({ 5: [], 15: [], 25: [], 45: [] })
  // A client whose key opens nothing of the lost wallet does not know those that the lost wallet counts for.
  expect(await found('carol', [15, 45], ['alice'])).toEqual({})
})
