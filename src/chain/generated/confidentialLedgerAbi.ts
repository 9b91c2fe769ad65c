// Generated from contracts/ by `npm run contracts`. Do not edit.
export const confidentialLedgerAbi = [
  {
    "inputs": [
      {
        "internalType": "contract IAuthority",
        "name": "authority_",
        "type": "address"
      },
      {
        "internalType": "contract IERC20",
        "name": "usdc_",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "pool_",
        "type": "address"
      },
      {
        "internalType": "contract IOrderEscrow",
        "name": "escrow_",
        "type": "address"
      },
      {
        "internalType": "contract IInstitutionRegistry",
        "name": "registry_",
        "type": "address"
      },
      {
        "internalType": "contract IEquityToken",
        "name": "token_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "expected",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "got",
        "type": "bytes32"
      }
    ],
    "name": "DigestConflict",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "DigestUsed",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ECDSAInvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "length",
        "type": "uint256"
      }
    ],
    "name": "ECDSAInvalidSignatureLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "ECDSAInvalidSignatureS",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "EmptyBlob",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "FailedDeployment",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "expected",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "got",
        "type": "bytes32"
      }
    ],
    "name": "HistoryConflict",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "expected",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "got",
        "type": "address"
      }
    ],
    "name": "InvalidSigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      }
    ],
    "name": "NotAdmitted",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "wallet",
        "type": "address"
      }
    ],
    "name": "NotCleared",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "expected",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "caller",
        "type": "address"
      }
    ],
    "name": "NotEscrow",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      },
      {
        "internalType": "address",
        "name": "expected",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "got",
        "type": "address"
      }
    ],
    "name": "NotInstitutionAdmin",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NothingToSweep",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "open",
        "type": "uint256"
      }
    ],
    "name": "OrdersOpen",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint8",
        "name": "expected",
        "type": "uint8"
      },
      {
        "internalType": "uint8",
        "name": "got",
        "type": "uint8"
      }
    ],
    "name": "PartConflict",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ReentrancyGuardReentrantCall",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "expected",
        "type": "uint64"
      },
      {
        "internalType": "uint64",
        "name": "got",
        "type": "uint64"
      }
    ],
    "name": "VersionConflict",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "version",
        "type": "uint64"
      }
    ],
    "name": "PolicyUpdated",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "partsLeft",
        "type": "uint64"
      }
    ],
    "name": "PortfolioMoved",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "version",
        "type": "uint64"
      }
    ],
    "name": "PortfolioUpdated",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "UsdcSwept",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "actions",
    "outputs": [
      {
        "internalType": "contract ICorporateActions",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "authority",
    "outputs": [
      {
        "internalType": "contract IAuthority",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      }
    ],
    "name": "enclaveBlob",
    "outputs": [
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "escrow",
    "outputs": [
      {
        "internalType": "contract IOrderEscrow",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "orgId",
            "type": "bytes32"
          },
          {
            "internalType": "address",
            "name": "admin",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "uint8",
            "name": "part",
            "type": "uint8"
          },
          {
            "internalType": "uint8",
            "name": "parts",
            "type": "uint8"
          },
          {
            "internalType": "bytes32",
            "name": "digest",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "policyBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PolicyUpdate",
        "name": "a",
        "type": "tuple"
      }
    ],
    "name": "hashPolicyUpdate",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "from",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "to",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "effectiveAt",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "userPubKeyHash",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "partsLeft",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "previous",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "actions",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "enclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "userBlob",
            "type": "bytes"
          },
          {
            "internalType": "uint64",
            "name": "toVersion",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "toPrevious",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "toEnclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "toUserBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PortfolioMove",
        "name": "a",
        "type": "tuple"
      }
    ],
    "name": "hashPortfolioMove",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "orderId",
            "type": "bytes32"
          },
          {
            "internalType": "address",
            "name": "account",
            "type": "address"
          },
          {
            "internalType": "bytes32",
            "name": "asset",
            "type": "bytes32"
          },
          {
            "internalType": "uint256",
            "name": "amount",
            "type": "uint256"
          },
          {
            "internalType": "bytes32",
            "name": "commit",
            "type": "bytes32"
          },
          {
            "internalType": "enum IOrderEscrow.State",
            "name": "state",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "previous",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "actions",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "enclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "userBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PortfolioUpdate",
        "name": "a",
        "type": "tuple"
      }
    ],
    "name": "hashPortfolioUpdate",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "address",
            "name": "from",
            "type": "address"
          },
          {
            "internalType": "address",
            "name": "to",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "effectiveAt",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "userPubKeyHash",
            "type": "bytes32"
          },
          {
            "internalType": "uint64",
            "name": "partsLeft",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "previous",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "actions",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "enclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "userBlob",
            "type": "bytes"
          },
          {
            "internalType": "uint64",
            "name": "toVersion",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "toPrevious",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "toEnclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "toUserBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PortfolioMove",
        "name": "a",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "movePortfolio",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      }
    ],
    "name": "pendingPolicyBlob",
    "outputs": [
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      }
    ],
    "name": "policyBlob",
    "outputs": [
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      }
    ],
    "name": "policyDigest",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "orgId",
        "type": "bytes32"
      }
    ],
    "name": "policyVersion",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "pool",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      }
    ],
    "name": "portfolioHash",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      }
    ],
    "name": "portfolioVersion",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "registry",
    "outputs": [
      {
        "internalType": "contract IInstitutionRegistry",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      },
      {
        "internalType": "uint64",
        "name": "version",
        "type": "uint64"
      },
      {
        "internalType": "bytes32",
        "name": "hash",
        "type": "bytes32"
      }
    ],
    "name": "requirePortfolio",
    "outputs": [],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "sweepUsdc",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "orgId",
            "type": "bytes32"
          },
          {
            "internalType": "address",
            "name": "admin",
            "type": "address"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "uint8",
            "name": "part",
            "type": "uint8"
          },
          {
            "internalType": "uint8",
            "name": "parts",
            "type": "uint8"
          },
          {
            "internalType": "bytes32",
            "name": "digest",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "policyBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PolicyUpdate",
        "name": "authorization",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "updatePolicy",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "bytes32",
            "name": "orderId",
            "type": "bytes32"
          },
          {
            "internalType": "address",
            "name": "account",
            "type": "address"
          },
          {
            "internalType": "bytes32",
            "name": "asset",
            "type": "bytes32"
          },
          {
            "internalType": "uint256",
            "name": "amount",
            "type": "uint256"
          },
          {
            "internalType": "bytes32",
            "name": "commit",
            "type": "bytes32"
          },
          {
            "internalType": "enum IOrderEscrow.State",
            "name": "state",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "version",
            "type": "uint64"
          },
          {
            "internalType": "bytes32",
            "name": "previous",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "actions",
            "type": "bytes32"
          },
          {
            "internalType": "bytes",
            "name": "enclaveBlob",
            "type": "bytes"
          },
          {
            "internalType": "bytes",
            "name": "userBlob",
            "type": "bytes"
          }
        ],
        "internalType": "struct IConfidentialLedger.PortfolioUpdate",
        "name": "authorization",
        "type": "tuple"
      },
      {
        "internalType": "bytes",
        "name": "signature",
        "type": "bytes"
      }
    ],
    "name": "updatePortfolio",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "usdc",
    "outputs": [
      {
        "internalType": "contract IERC20",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "usedDigest",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      }
    ],
    "name": "userBlob",
    "outputs": [
      {
        "internalType": "bytes",
        "name": "",
        "type": "bytes"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "accountId",
        "type": "bytes32"
      },
      {
        "internalType": "uint64",
        "name": "version",
        "type": "uint64"
      },
      {
        "internalType": "bytes32",
        "name": "previous",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "actions_",
        "type": "bytes32"
      },
      {
        "internalType": "bytes",
        "name": "enclaveBlob_",
        "type": "bytes"
      },
      {
        "internalType": "bytes",
        "name": "userBlob_",
        "type": "bytes"
      }
    ],
    "name": "writePortfolio",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const
