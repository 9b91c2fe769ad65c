import { bytesToHex, type Hex, hexLength } from '../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../src/protocol/identifiers.js'
import { ONE_SHARE, ONE_USDC } from '../src/protocol/units.js'
import { INSTITUTION } from '../src/sandbox/settings.js'
import { type PortfolioWrite, policyBlob, portfolioWrite } from './support/blobs.js'
import { escrowCall, usdcCall } from './support/calls.js'
import type { Figure, GasRow } from './support/figure.js'
import { type GasChain, startGasChain } from './support/gasChain.js'

const AAPL = nameToBytes32('AAPL')
const USDC = nameToBytes32('USDC')
const NOTHING: Hex = `0x${'00'.repeat(32)}`
const AMOUNT = 1_000n * ONE_USDC
const DAY_SECONDS = 86_400
/** Of a blob of a portfolio or rulebook: format, iv and tag. */
const BLOB_HEADER = 29

export const gas: Figure = {
  name: 'gas',
  title: 'Gas of each call',
  async measure() {
    const chain = await startGasChain()
    try {
      const parts = [orders, portfolios, refundsAndReclaim, rulebooks, batches]
      const rows: GasRow[] = []
      for (const part of parts) rows.push(...(await part(chain)))
      return { kind: 'gas', rows }
    } finally {
      await chain.stop()
    }
  },
}

/** A buy from its opening to its settlement, and a withdrawal of cash. */
async function orders(chain: GasChain): Promise<GasRow[]> {
  const [employee] = chain.accounts.employees
  const approve = usdcCall(chain.usdc, 'approve', chain.contracts.orderEscrow, 10n * AMOUNT)
  const approved = await chain.send(employee, approve)
  const buy = await open(chain, AMOUNT)
  const request = await open(chain, 0n)
  const first = await portfolioWrite(chain, employee, 1n, 1)
  const settled = await portfolioWrite(chain, employee, 2n, 0)
  const paid = await portfolioWrite(chain, employee, 3n, 0)
  return [
    { call: 'USDC approve', gas: approved },
    { call: 'openBuy', gas: buy.gas },
    { call: 'openRequest', gas: request.gas },
    {
      call: `PortfolioUpdate, the first, ${sizeOf(first)}`,
      gas: await writePortfolio(chain, first),
    },
    {
      call: `OrderSettlement, ${sizeOf(settled)}`,
      gas: await settle(chain, buy.orderId, { payoutAsset: NOTHING, payout: 0n }, settled),
    },
    {
      call: `OrderSettlement with a USDC payout, ${sizeOf(paid)}`,
      gas: await settle(chain, request.orderId, { payoutAsset: USDC, payout: AMOUNT / 2n }, paid),
    },
  ]
}

/** What a write-ahead costs as a portfolio grows. */
async function portfolios(chain: GasChain): Promise<GasRow[]> {
  const [employee] = chain.accounts.employees
  const rows: GasRow[] = []
  let version = 4n
  for (const [openOrders, name] of [
    [1, 'PortfolioUpdate, a later one'],
    [4, 'PortfolioUpdate that grows'],
    [4, 'PortfolioUpdate, a later one'],
    [12, 'PortfolioUpdate that grows'],
    [12, 'PortfolioUpdate, a later one'],
  ] as const) {
    const write = await portfolioWrite(chain, employee, version++, openOrders)
    rows.push({ call: `${name}, ${sizeOf(write)}`, gas: await writePortfolio(chain, write) })
  }
  return rows
}

async function refundsAndReclaim(chain: GasChain): Promise<GasRow[]> {
  const [employee] = chain.accounts.employees
  const [written, unwritten, unanswered] = [
    await open(chain, AMOUNT),
    await open(chain, 0n),
    await open(chain, AMOUNT),
  ]
  const write = await portfolioWrite(chain, employee, 9n, 12)
  const refund = (orderId: Hex, message: PortfolioWrite) =>
    chain.authorize({ primaryType: 'OrderRefund', message: { orderId, ...message } })
  const rows = [
    { call: `OrderRefund of a buy, ${sizeOf(write)}`, gas: await refund(written.orderId, write) },
    {
      call: 'OrderRefund of a request, no portfolio',
      gas: await refund(unwritten.orderId, { version: 9n, enclaveBlob: '0x', userBlob: '0x' }),
    },
  ]
  // A day until the deadline, then the seven of RECLAIM_DELAY.
  await chain.pass(9 * DAY_SECONDS)
  const reclaim = escrowCall(chain.contracts, 'reclaim', unanswered.orderId)
  return [...rows, { call: 'reclaim of a buy', gas: await chain.send(employee, reclaim) }]
}

async function rulebooks(chain: GasChain): Promise<GasRow[]> {
  const orgId = nameToBytes32(INSTITUTION)
  const { address: admin } = chain.accounts.admin
  const rows: GasRow[] = []
  let version = 1n
  for (const [employees, name] of [
    [3, 'the first'],
    [3, 'a later one'],
    [100, 'that grows'],
    [100, 'a later one'],
  ] as const) {
    const blob = await policyBlob(chain, orgId, version, employees)
    const message = { orgId, admin, version: version++, policyBlob: blob }
    const size = hexLength(blob) - BLOB_HEADER
    const call = `PolicyUpdate of ${employees} employees, ${name}, ${size} bytes`
    rows.push({ call, gas: await chain.authorize({ primaryType: 'PolicyUpdate', message }) })
  }
  return rows
}

async function batches(chain: GasChain): Promise<GasRow[]> {
  const of = (expectedSupply: bigint, batch: bigint) => ({
    symbol: AAPL,
    amount: ONE_SHARE,
    expectedSupply,
    batch,
  })
  const mint = (supply: bigint, batch: bigint) =>
    chain.authorize({ primaryType: 'BatchMint', message: of(supply, batch) })
  return [
    { call: 'BatchMint, the first of a symbol', gas: await mint(0n, 1n) },
    { call: 'BatchMint, a later one', gas: await mint(ONE_SHARE, 2n) },
    {
      call: 'BatchBurn',
      gas: await chain.authorize({ primaryType: 'BatchBurn', message: of(2n * ONE_SHARE, 3n) }),
    },
  ]
}

/** Opens a buy of that amount, or a request for nothing. */
async function open(chain: GasChain, amount: bigint): Promise<{ orderId: Hex; gas: number }> {
  const [employee] = chain.accounts.employees
  const [orderId, commit] = [random32(), random32()]
  const deadline = (await chain.now()) + DAY_SECONDS
  const call =
    amount > 0n
      ? escrowCall(chain.contracts, 'openBuy', orderId, commit, amount, deadline)
      : escrowCall(chain.contracts, 'openRequest', orderId, commit, deadline)
  return { orderId, gas: await chain.send(employee, call) }
}

function writePortfolio(chain: GasChain, write: PortfolioWrite): Promise<number> {
  const accountId = accountIdOf(chain.accounts.employees[0].address)
  return chain.authorize({ primaryType: 'PortfolioUpdate', message: { accountId, ...write } })
}

function settle(
  chain: GasChain,
  orderId: Hex,
  payout: { payoutAsset: Hex; payout: bigint },
  write: PortfolioWrite,
): Promise<number> {
  return chain.authorize({ primaryType: 'OrderSettlement', message: { orderId, ...payout, ...write } })
}

/** The padded size of what is sealed in each of the two blobs. */
function sizeOf({ enclaveBlob }: PortfolioWrite): string {
  return `${hexLength(enclaveBlob) - BLOB_HEADER} bytes`
}

function random32(): Hex {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
}
