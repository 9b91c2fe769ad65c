import { fields, shownTime } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `Leaving takes effect after the deployment's leave delay, and cannot be postponed or undone. From now on the wallet cannot buy; until it has left, the rulebook still binds it. It can sell and withdraw throughout.`

export const addLeave: AddCommand = (root, { env, terminal }) => {
  addWalletCommand(root, 'leave', "leaves the wallet's institution, by itself after some days", ABOUT)
    .requiredOption('--yes', 'required: leaving cannot be undone')
    .action((options: WalletOptions) =>
      withWallet(options, env, async (client) => {
        const { txHash } = await client.leaveInstitution()
        const leavingAt = await client.getLeavingAt()
        const at = leavingAt === null ? 'left' : shownTime(new Date(leavingAt * 1_000).toISOString())
        const shown = fields([
          ['transaction', txHash],
          ['leaves at', at],
        ])
        terminal.result({ json: { txHash, leavingAt }, blocks: [shown] })
      }),
    )
}
