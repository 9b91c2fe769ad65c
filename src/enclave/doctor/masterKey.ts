import * as z from 'zod'
import { createConfidentialLedger } from '../../chain/contracts.js'
import { RangeRefusedError } from '../../chain/errors.js'
import { interfaces } from '../../chain/interfaces.js'
import { resultOf, smallQuantitySchema } from '../../chain/jsonRpc.js'
import { createLogReader } from '../../chain/logReader.js'
import type { Rpc } from '../../chain/rpc.js'
import { createViewCaller } from '../../chain/views.js'
import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { openBlobBytes } from '../../protocol/ledgerBlob.js'
import type { EnclaveKeys } from '../keys/keys.js'

/** Blocks that one query spans at first: what most public nodes answer. */
const SPAN = 2_000
/** Blocks that are searched backwards from the head at most. */
const MAX_BLOCKS = 100_000
/** How many queries are sent to nodes that answer short spans only. */
const MAX_QUERIES = 200

const TOPICS = ['PortfolioUpdated', 'PolicyUpdated'].map(
  (name) => interfaces.confidentialLedger.getEvent(name)?.topicHash ?? '',
)

/**
 * Proves that the master key opens a blob that is on the chain, without showing anything of it: this is how a restored
 * backup is tried.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function checkMasterKey(checkup: {
  readonly rpc: Pick<Rpc, 'send'>
  readonly chainId: number
  readonly ledger: Hex
  readonly keys: Pick<EnclaveKeys, 'ledgerKey'>
  /** What the findings call the master key. */
  readonly name: string
  /** The owner of the portfolio to open. Default: the portfolio or rulebook that was written last. */
  readonly account?: Hex | undefined
}): Promise<Finding> {
  const { rpc, chainId, ledger, keys, name, account } = checkup
  const [answer] = await rpc.send([{ method: 'eth_blockNumber', params: [] }])
  const head = resultOf(answer, smallQuantitySchema)
  const { owner, searched } = account
    ? { owner: { kind: 'account' as const, id: accountIdOf(account) }, searched: 0 }
    : await lastWritten(rpc, ledger, head)
  if (owner === undefined) {
    return unchecked(
      'master-key',
      searched === 0
        ? 'the nodes do not give the events of a single block: name an account that has a portfolio with --account'
        : `no portfolio or rulebook was written in the last ${searched} blocks: name an account that has a portfolio \
with --account, or look again after the first rulebook`,
    )
  }
  const contract = createConfidentialLedger(createViewCaller(rpc), ledger)
  const { kind, id } = owner
  const [version, blob] = await Promise.all(
    kind === 'account'
      ? [contract.portfolioVersion(id, head), contract.enclaveBlob(id, head)]
      : [contract.policyVersion(id, head), contract.policyBlob(id, head)],
  )
  const what = kind === 'account' ? 'portfolio' : 'rulebook'
  if (BigInt(version) === 0n)
    return unchecked('master-key', 'the account named by --account has no portfolio')
  try {
    await openBlobBytes(blob, keys.ledgerKey(kind, id), { chainId, ledger, id, version: BigInt(version) })
    return ok('master-key', `${name} opens a ${what} that is on the chain (version ${version})`)
  } catch {
    return fault(
      'master-key',
      `${name} does not open a ${what} that is on the chain: restore the one that the ledger was written \
with, and let no order run before`,
    )
  }
}

const ownerSchema = z.union([
  z
    .object({ accountId: bytes32Schema })
    .transform(({ accountId }) => ({ kind: 'account' as const, id: accountId })),
  z.object({ orgId: bytes32Schema }).transform(({ orgId }) => ({ kind: 'org' as const, id: orgId })),
])

/** The owner of the last portfolio or rulebook, and how many blocks were searched for it. */
async function lastWritten(
  rpc: Pick<Rpc, 'send'>,
  ledger: Hex,
  head: number,
): Promise<{ owner?: z.output<typeof ownerSchema>; searched: number }> {
  const queries = [{ address: ledger, topics: [TOPICS] }]
  const reader = createLogReader({ rpc, queries, maxBlocks: SPAN })
  const lowest = Math.max(0, head - MAX_BLOCKS + 1)
  let to = head
  for (let query = 0; query < MAX_QUERIES && to >= lowest; query++) {
    const piece = await reader.readPiece({ from: lowest, to }, { backwards: true }).catch(unlessRefused)
    if (piece === undefined) break
    const last = piece.logs.at(-1)
    const event = last && interfaces.confidentialLedger.parseLog(last)
    if (event) return { owner: ownerSchema.parse(event.args.toObject()), searched: head - piece.from + 1 }
    to = piece.from - 1
  }
  return { searched: head - to }
}

/** Some nodes give the events of no block at all. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof RangeRefusedError)) throw error
}
