// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

import {Authority} from "./Authority.sol";
import {EquityShares} from "./EquityShares.sol";
import {Governed} from "./Governed.sol";
import {Names} from "./Names.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title The equities: the compliance flags, and the ERC-20 of each equity's shares.
 *
 * @dev An equity is its symbol as `bytes32`. Its shares are an {EquityShares}, whose address derives from the symbol. The flags,
 * set by the owner:
 * - KYC per wallet and freeze per symbol and wallet bind every party to a transfer (sender, receiver, and a
 *   spender who moves another's shares), except the pool;
 * - listing per symbol binds transfers between wallets only: the pool still pays out delisted symbols.
 * Minting to and burning from the pool ignore the flags. So does a payout that becomes a claim: the pool can always send
 * shares to the escrow. A wallet's shares come there only when the escrow itself takes them for a deposit, listed or not.
 */
contract EquityToken is Governed, Sweepable {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @dev The name of USDC in settlements and claims, so no equity may have it.
    bytes32 private constant USDC_SYMBOL = "USDC";

    /// @notice The escrow, which holds the shares of claims. No flag binds it.
    address public immutable escrow;

    /// @notice The code that every equity's shares run. It holds none itself.
    EquityShares public immutable sharesImplementation;

    /// @notice Whether a wallet has passed KYC.
    mapping(address wallet => bool) public isKyc;

    /// @notice Whether a wallet's holding of a symbol is frozen.
    mapping(bytes32 symbol => mapping(address wallet => bool)) public isFrozen;

    EnumerableSet.Bytes32Set private _listed;

    /// @notice A wallet's KYC flag changed.
    event KycUpdated(address indexed wallet, bool verified);

    /// @notice A symbol was listed or delisted.
    event ListingUpdated(bytes32 indexed symbol, bool listed);

    /// @notice A wallet's holding of a symbol was frozen or released.
    event FreezeUpdated(bytes32 indexed symbol, address indexed wallet, bool frozen);

    /// @notice The wallet has not passed KYC.
    error NotCleared(address wallet);

    /// @notice The wallet's holding of this symbol is frozen.
    error WalletFrozen(bytes32 symbol, address wallet);

    /// @notice The symbol is not listed.
    error NotListed(bytes32 symbol);

    /// @notice The symbol cannot be an equity's.
    error ReservedSymbol(bytes32 symbol);

    /// @notice `caller` is not the pool.
    error NotPool(address expected, address caller);

    constructor(Authority authority_, IERC20 usdc_, address pool_, address escrow_)
        Governed(authority_)
        Sweepable(usdc_, pool_)
    {
        escrow = escrow_;
        sharesImplementation = new EquityShares(this, usdc_, pool_);
    }

    modifier onlyPool() {
        require(msg.sender == pool, NotPool(pool, msg.sender));
        _;
    }

    /**
     * @notice Sets a wallet's KYC flag.
     *
     * Requirements:
     * - the caller is the owner.
     *
     * Emits {KycUpdated} when the flag changes.
     */
    function setKyc(address wallet, bool verified) external onlyOwner {
        if (isKyc[wallet] == verified) return;
        isKyc[wallet] = verified;
        emit KycUpdated(wallet, verified);
    }

    /**
     * @notice Lists or delists a symbol. The first listing creates the contract of its shares.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`.
     *
     * Emits {ListingUpdated} when the listing changes.
     */
    function setListed(bytes32 symbol, bool listed) external onlyOwner {
        _requireEquity(symbol);
        if (listed) _createShares(symbol);
        bool changed = listed ? _listed.add(symbol) : _listed.remove(symbol);
        if (changed) emit ListingUpdated(symbol, listed);
    }

    /**
     * @notice Freezes a wallet's holding of a symbol, or releases it. The symbol need not be listed.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`.
     *
     * Emits {FreezeUpdated} when the flag changes.
     */
    function setFrozen(bytes32 symbol, address wallet, bool frozen) external onlyOwner {
        _requireEquity(symbol);
        if (isFrozen[symbol][wallet] == frozen) return;
        isFrozen[symbol][wallet] = frozen;
        emit FreezeUpdated(symbol, wallet, frozen);
    }

    /**
     * @notice Mints shares to the pool. The symbol need not be listed: a fill may arrive after a delisting.
     *
     * Requirements:
     * - the caller is the pool;
     * - the symbol is a well-formed name and not `USDC`.
     */
    function mint(bytes32 symbol, uint256 amount) external onlyPool {
        _requireEquity(symbol);
        _createShares(symbol).mint(amount);
    }

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the caller is the pool, and holds `amount`.
     */
    function burn(bytes32 symbol, uint256 amount) external onlyPool {
        sharesOf(symbol).burn(amount);
    }

    /**
     * @notice The contract of an equity's shares: a clone of {sharesImplementation}, by CREATE2 with the symbol as its salt and
     * as its only argument. It exists once the symbol was listed or minted.
     */
    function sharesOf(bytes32 symbol) public view returns (EquityShares) {
        return EquityShares(
            Clones.predictDeterministicAddressWithImmutableArgs(
                address(sharesImplementation), abi.encode(symbol), symbol
            )
        );
    }

    /// @notice The shares of a symbol that a wallet holds, in base units.
    function balanceOf(address owner, bytes32 symbol) external view returns (uint256) {
        EquityShares shares = sharesOf(symbol);
        return _exists(shares) ? shares.balanceOf(owner) : 0;
    }

    /// @notice The shares of a symbol that exist, in base units.
    function totalSupply(bytes32 symbol) external view returns (uint256) {
        EquityShares shares = sharesOf(symbol);
        return _exists(shares) ? shares.totalSupply() : 0;
    }

    /// @notice Whether a symbol is listed.
    function isListed(bytes32 symbol) external view returns (bool) {
        return _listed.contains(symbol);
    }

    /// @notice Every listed symbol, in no particular order.
    function listedSymbols() external view returns (bytes32[] memory) {
        return _listed.values();
    }

    /// @notice Whether the flags let the wallet be party to a transfer of the symbol. No flag binds pool and escrow.
    function isCleared(bytes32 symbol, address wallet) external view returns (bool) {
        return wallet == pool || wallet == escrow || (isKyc[wallet] && !isFrozen[symbol][wallet]);
    }

    /**
     * @notice Reverts with {NotCleared}, {WalletFrozen} or {NotListed} unless the flags let `spender` move shares of the symbol
     * from `from` to `to`.
     */
    function requireTransferable(bytes32 symbol, address spender, address from, address to) external view {
        if (to == escrow) {
            if (from == pool || from == escrow) return;
            // The escrow accounts for what it takes itself. Shares that come otherwise would belong to no one.
            _requireCleared(symbol, from);
            require(spender == escrow, NotCleared(escrow));
            return;
        }
        if (from != escrow) {
            _requireCleared(symbol, from);
            if (spender != from) _requireCleared(symbol, spender);
        }
        _requireCleared(symbol, to);
        require(from == pool || from == escrow || to == pool || _listed.contains(symbol), NotListed(symbol));
    }

    function _createShares(bytes32 symbol) private returns (EquityShares shares) {
        shares = sharesOf(symbol);
        if (!_exists(shares)) {
            Clones.cloneDeterministicWithImmutableArgs(address(sharesImplementation), abi.encode(symbol), symbol);
        }
    }

    function _exists(EquityShares shares) private view returns (bool) {
        return address(shares).code.length > 0;
    }

    function _requireCleared(bytes32 symbol, address wallet) private view {
        if (wallet == pool) return;
        require(isKyc[wallet], NotCleared(wallet));
        require(!isFrozen[symbol][wallet], WalletFrozen(symbol, wallet));
    }

    function _requireEquity(bytes32 symbol) private pure {
        Names.check(symbol);
        require(symbol != USDC_SYMBOL, ReservedSymbol(symbol));
    }
}
