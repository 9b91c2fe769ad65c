// The largest authorization of each kind that the enclave can make, carried by a relay under its defaults. A longer one is no body:
// test/chain/authorizationCall.test.ts.
import { expect, test } from 'vitest'
import type { Authorization } from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { accountIdOf } from '../../../src/protocol/identifiers.js'
import { MAX_PART_BYTES, sealBlob } from '../../../src/protocol/ledgerBlob.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { sealUserBlob } from '../../../src/protocol/userBlob.js'
import {
  type BoundOrder,
  orderOf,
  policyUpdate,
  portfolioUpdate,
  refund,
  settlement,
  signedCall,
} from '../../support/authorizations.js'
import { ORG, openRequest } from '../../support/institution.js'
import { nextWrite } from '../../support/orderEnds.js'
import { useUtcDay } from '../../support/utcDay.js'
import { receiptOf, startRelay, useMintChain } from './relayUnderTest.js'

useUtcDay(120_000)

const { chain } = useMintChain()

const KEY = new Uint8Array(32).fill(7)
const USER_KEY = publicKeyOf(KEY)
const BLOCK_BYTES = 512
/** The most that an order or a position adds to a portfolio: see test/enclave/positions.test.ts. */
const GROWTH_BYTES = BLOCK_BYTES
/** The most blocks that fit into 20,480 bytes with a blob's header. */
const MOST_PORTFOLIO_BYTES = 39 * BLOCK_BYTES
/** Such blocks that the test adds in one transaction, past the relay. */
const STEP_BYTES = 8 * BLOCK_BYTES

/** A text of so many bytes as JSON. */
const textOf = (bytes: number) => 'x'.repeat(bytes - 2)

function placeOf(id: Hex, version: bigint) {
  const { anvil, addresses } = chain()
  return { chainId: anvil.chainId, ledger: addresses.confidentialLedger, id, version }
}

/** The next write of alice's portfolio, of so many bytes. */
async function writeOf({ account }: BoundOrder, bytes: number) {
  const { version, previous } = await nextWrite(chain(), account)
  const id = accountIdOf(account)
  return {
    version,
    previous,
    enclaveBlob: await sealBlob(textOf(bytes), KEY, placeOf(id, version)),
    userBlob: await sealUserBlob(textOf(bytes), USER_KEY, id, version),
  }
}

/** An order of alice, whose portfolio is as large as it may be without it. */
async function lastOrder(): Promise<BoundOrder> {
  const order = await orderOf(chain(), await openRequest(chain(), 'alice', 'the last'))
  const most = MOST_PORTFOLIO_BYTES - GROWTH_BYTES
  for (let bytes = STEP_BYTES; ; bytes = Math.min(bytes + STEP_BYTES, most)) {
    await chain().send('relayer', ...signedCall(chain(), portfolioUpdate(order, await writeOf(order, bytes))))
    if (bytes === most) return order
  }
}

const LARGEST: Record<string, () => Promise<Authorization>> = {
  async PortfolioUpdate() {
    const order = await lastOrder()
    return portfolioUpdate(order, await writeOf(order, MOST_PORTFOLIO_BYTES))
  },
  async OrderSettlement() {
    const order = await lastOrder()
    return settlement(order, await writeOf(order, MOST_PORTFOLIO_BYTES))
  },
  async OrderRefund() {
    const order = await lastOrder()
    return refund(order, await writeOf(order, MOST_PORTFOLIO_BYTES))
  },
  async PolicyUpdate() {
    return policyUpdate(ORG, chain().account('admin'), { policyBlob: `0x${'5a'.repeat(MAX_PART_BYTES)}` })
  },
}

test.each(Object.entries(LARGEST))('the largest %s is carried', async (_, make) => {
  const largest = await make()
  const relay = await startRelay({ chain: chain() })
  const answer = await relay.relay(largest)
  expect(answer.body).toMatchObject({ status: 'confirmed' })
  const { txHash } = receiptOf(answer)
  expect((await chain().provider.getTransactionReceipt(txHash ?? ''))?.gasUsed).toBeLessThan(2n ** 24n)
})
