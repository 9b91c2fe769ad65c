import { Contract } from 'ethers'
import * as z from 'zod'
import { openedByCall } from '../../src/chain/openingCall.js'
import { sameAddress } from '../../src/protocol/address.js'
import { receiptSchema } from '../../src/protocol/relayReceipt.js'
import { type RelayRecord, relayRecordSchema } from '../../src/server/store/receipts.js'
import { readOpeners } from './openings.js'
import type { World } from './world.js'

const DIGESTS = ['function usedDigest(bytes32) view returns (bool)']
const poolSchema = z.object({ pending: z.string(), queued: z.string() })

/** The relay's records of authorizations and openings. */
export async function readRelays({ store }: World): Promise<RelayRecord[]> {
  return (await store.rows('relays')).map(({ doc }) => relayRecordSchema.parse(JSON.parse(doc)))
}

/** Holds the receipts against the chain, and finds transactions that wait, once all has ended. */
export async function findRelayFaults(world: World): Promise<string[]> {
  const { chain } = world
  const openers = await readOpeners(world)
  const receipts = (await readRelays(world)).map((record) => faultsOfReceipt(world, record, openers))
  const pool = poolSchema.parse(await chain.provider.send('txpool_status', []))
  const waiting = Number(pool.pending) + Number(pool.queued)
  return [
    ...(await Promise.all(receipts)).flat(),
    ...(waiting > 0 ? [`the pool holds ${waiting} transactions`] : []),
  ]
}

/**
 * A confirmed authorization has had its effect, in the transaction that its receipt names; a failed one has had none. A receipt that is
 * asked for is put right. A wallet that pays itself opens its order by a transaction of its own, which no receipt names.
 */
async function faultsOfReceipt(
  world: World,
  { receipt, data }: RelayRecord,
  openers: Awaited<ReturnType<typeof readOpeners>>,
): Promise<string[]> {
  const { chain, sandbox } = world
  const headers = { Authorization: `Bearer ${sandbox.secrets.relayAuthToken}` }
  const answer = await fetch(`${world.url()}/relay/${receipt.digest}`, { headers }).catch(() => undefined)
  if (answer?.status !== 200) return [`the receipt of ${receipt.digest} is answered with ${answer?.status}`]
  const { digest, target, status, txHash, blockNumber, gasUsed } = receiptSchema.parse(await answer.json())
  const isConfirmed = status === 'confirmed'
  const faults: string[] = []
  const opened = openedByCall(data)
  const isOpenedByOther =
    opened !== null &&
    (openers.get(opened.orderId) ?? []).some((from) => !chain.relayers.some((one) => sameAddress(one, from)))
  if (opened === null) {
    const contract = new Contract(target, DIGESTS, chain.provider)
    const isUsed: unknown = await contract.getFunction('usedDigest')(digest)
    if (isUsed !== isConfirmed)
      faults.push(`is said to be ${status}, and its digest is ${isUsed ? '' : 'un'}used`)
  }
  if (isConfirmed && !(txHash === null && isOpenedByOther)) {
    const mined = txHash === null ? null : await chain.provider.getTransactionReceipt(txHash)
    const isTrue = mined?.status === 1 && mined.blockNumber === blockNumber && mined.gasUsed === gasUsed
    const said =
      txHash === null ? 'by somebody else' : `by ${txHash} in block ${blockNumber} for ${gasUsed} gas`
    if (!isTrue) faults.push(`is said to be confirmed ${said}, which the chain does not have`)
  }
  return faults.map((fault) => `the authorization ${digest} ${fault}`)
}
