import type { Command } from 'commander'
import type { Client, Hex } from '../../client/index.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import { aName, anAddress } from '../../terminal/arguments.js'
import { fields } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addCommonOptions, addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `The wallet that founds an institution becomes its admin once the platform admits it. The admin invites wallets, and each becomes a member when it joins. Every act is one transaction of the wallet, which needs ether for it.`

export const addInstitution: AddCommand = (root, { env, terminal }) => {
  const institution = addCommonOptions(root.command('institution'))
    .summary('founds an institution, joins one, or invites and removes its members')
    .description(ABOUT)
  const acts = <T>(command: Command, act: (client: Client, subject: T) => Promise<{ txHash: Hex }>) =>
    command.action((subject: T, options: WalletOptions) =>
      withWallet(options, env, async (client) => {
        const { txHash } = await act(client, subject)
        terminal.result({ json: { txHash }, blocks: [fields([['transaction', txHash]])] })
      }),
    )
  const ofName = (name: string, summary: string) =>
    addWalletCommand(institution, name, summary).argument('<name>', 'its name', aName)
  const ofWallet = (name: string, summary: string) =>
    addWalletCommand(institution, name, summary).argument('<wallet>', 'its address', anAddress)
  acts(ofName('found', 'founds an institution'), (client, name: string) => client.foundInstitution(name))
  acts(ofName('join', 'joins the institution that has invited the wallet'), (client, name: string) =>
    client.joinInstitution(nameToBytes32(name)),
  )
  acts(ofWallet('invite', 'invites a wallet, as the admin'), (client, wallet: Hex) =>
    client.inviteMember(wallet),
  )
  acts(ofWallet('remove', 'removes a member, as the admin'), (client, wallet: Hex) =>
    client.removeMember(wallet),
  )
}
