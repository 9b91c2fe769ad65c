// A process of its own with what one would write without us: Express, ethers' Wallet and NonceManager, and `wait()`.
import { Contract, JsonRpcProvider, NonceManager, verifyTypedData, Wallet } from 'ethers'
import express from 'express'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { servePeer } from './peer.js'
import { plainRelaySchema } from './plainServer.js'

/** Quicker than ethers' four seconds, which would be forty blocks here. */
const POLLING_MS = 50
const { PortfolioUpdate } = authorizationTypes

servePeer(plainRelaySchema, ({ rpcUrl, chainId, ledger, privateKey, signer }) => {
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
  return app
})
