import type { Command } from 'commander'
import { ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, clientOrderIdOf } from '../protocol/identifiers.js'
import { anId, several } from '../terminal/arguments.js'
import { connectChain, viewsOf } from './chain.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { readDeployment } from './settings.js'

const HELP = `
The escrow accepts the first 16 bytes of an order's id once. Another wallet can copy an id from a pending transaction and take it first; the
client then reports that wallet and retries under a new id. For reported ids, this shows which wallet holds each, and of each wallet how many of
them it holds, its institution, and whether it has passed KYC.`

/** Adds the command that names the wallets which took reported order ids. */
export function addTaken(root: Command, process: OperateProcess): void {
  addCommand(root, 'taken', 'lists the wallets that hold reported order ids')
    .argument('<orderIds...>', 'the reported ids', several(anId))
    .addHelpText('after', HELP)
    .action((ids: readonly Hex[], options: CommonOptions) => showTaken(process, options, ids))
}

async function showTaken(process: OperateProcess, options: CommonOptions, ids: readonly Hex[]) {
  const deployment = readDeployment(options.directory)
  using chain = await connectChain(process.env, deployment.chainId)
  const { escrow, registry, token } = viewsOf(chain, deployment)
  const taken = await Promise.all(
    ids.map(async (orderId) => {
      const by = await escrow.takenBy(`0x${clientOrderIdOf(orderId)}`)
      return { orderId, by: by === ZERO_ADDRESS ? null : by }
    }),
  )
  const holders = [...new Set(taken.map(({ by }) => by))].filter((by) => by !== null)
  const wallets = await Promise.all(
    holders.map(async (wallet) => {
      const [orgId, kyc] = await Promise.all([registry.orgOf(wallet), token.isKyc(wallet)])
      const held = taken.filter(({ by }) => by === wallet).length
      return { wallet, ids: held, institution: bytes32ToName(orgId), kyc }
    }),
  )
  const lines = [
    ...taken.map(({ orderId, by }) => `${orderId}  ${by ?? 'free'}`),
    ...wallets.map(
      ({ wallet, ids: held, institution, kyc }) =>
        `${wallet}  ids ${held}  institution ${institution ?? 'none'}  KYC ${kyc ? 'yes' : 'no'}`,
    ),
  ]
  createSpeech(process, options).result(lines, { taken, wallets })
}
