import { type Contracts, createContracts } from '../../chain/contracts.js'
import type { Hex } from '../../client/index.js'
import { ZERO_ADDRESS } from '../../protocol/address.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { anId, several } from '../../terminal/arguments.js'
import { table } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { connectProvider, connectServer } from '../input/connection.js'
import { addServerCommand, type NodeOptions, RPC_OPTION, type ServerOptions } from '../input/options.js'

const ABOUT = `The escrow accepts the first 16 bytes of an order's id once. Another wallet can copy an id from a pending transaction and take it first; the client then reports that wallet and retries under a new id. For reported ids, this command reads from the chain which wallet holds each, how many of them each wallet holds, and its institution.`

export const addTaken: AddCommand = (root, { env, terminal, signal }) => {
  addServerCommand(root, 'taken', 'lists the wallets that hold order ids, for operators', ABOUT)
    .argument('<orderIds...>', 'the reported ids', several(anId))
    .option(...RPC_OPTION)
    .action(async (ids: readonly Hex[], options: ServerOptions & NodeOptions) => {
      const { contracts: addresses } = await connectServer(options, env).getHealth({ signal })
      const provider = await connectProvider(options, env)
      try {
        terminal.result(await reportOf(createContracts(provider, addresses), ids))
      } finally {
        provider.destroy()
      }
    })
}

const PREFIX_DIGITS = 34

async function reportOf({ escrow, registry, token }: Contracts, ids: readonly Hex[]): Promise<Report> {
  const taken = await Promise.all(
    ids.map(async (orderId) => {
      const by = await escrow.takenBy(`0x${orderId.slice(2, PREFIX_DIGITS)}`)
      return { orderId, by: by === ZERO_ADDRESS ? null : by }
    }),
  )
  const holders = [...new Set(taken.map(({ by }) => by))].filter((by) => by !== null)
  const wallets = await Promise.all(
    holders.map(async (wallet) => {
      const [orgId, kyc] = await Promise.all([registry.orgOf(wallet), token.isKyc(wallet)])
      return {
        wallet,
        ids: taken.filter(({ by }) => by === wallet).length,
        institution: bytes32ToName(orgId),
        kyc,
      }
    }),
  )
  return {
    json: { taken, wallets },
    blocks: [
      table(
        ['order', 'wallet'],
        taken.map(({ orderId, by }) => [orderId, by ?? 'none']),
      ),
      table(
        ['wallet', 'ids', 'institution', 'KYC'],
        wallets.map(({ wallet, ids: count, institution, kyc }) => [
          wallet,
          String(count),
          institution ?? 'none',
          kyc ? 'yes' : 'no',
        ]),
      ),
    ],
  }
}
