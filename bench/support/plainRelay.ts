// A process of its own with what one would write without us: Express, ethers' Wallet and NonceManager, and `wait()`.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Contract, JsonRpcProvider, NonceManager, verifyTypedData, Wallet } from 'ethers'
import express from 'express'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { type PlainRelay, plainRelaySchema } from './plainServer.js'

/** Quicker than ethers' four seconds, which would be forty blocks here. */
const POLLING_MS = 50
const { PortfolioUpdate } = authorizationTypes

async function serve({ rpcUrl, chainId, ledger, privateKey, signer }: PlainRelay): Promise<number> {
  const provider = new JsonRpcProvider(rpcUrl, chainId, { staticNetwork: true, pollingInterval: POLLING_MS })
  const wallet = new NonceManager(new Wallet(privateKey, provider))
  const contract = new Contract(ledger, confidentialLedgerAbi, wallet)
  const updatePortfolio = contract.getFunction('updatePortfolio')
  const domain = { name: 'ConfidentialLedger', version: '1', chainId, verifyingContract: ledger }
  const app = express()
  app.post('/relay', express.json(), async (req, res) => {
    const { message, signature } = req.body
    if (verifyTypedData(domain, { PortfolioUpdate }, message, signature) !== signer) {
      res.sendStatus(422)
      return
    }
    const struct = PortfolioUpdate.map(({ name }) => message[name])
    const transaction = await updatePortfolio(struct, signature)
    const receipt = await transaction.wait()
    res.json({ status: 'confirmed', txHash: receipt.hash, blockNumber: receipt.blockNumber })
  })
  const server = createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

process.on('message', (message) => {
  void serve(plainRelaySchema.parse(message)).then((port) => process.send?.({ port }))
})
process.on('disconnect', () => process.exit(0))
