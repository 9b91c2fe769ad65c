// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

import {Assets} from "./Assets.sol";
import {Errors} from "./Errors.sol";
import {EquityShares} from "./EquityShares.sol";
import {Governed} from "./Governed.sol";
import {Sweepable} from "./Sweepable.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {ICorporateActions} from "./interfaces/ICorporateActions.sol";
import {IEquityShares} from "./interfaces/IEquityShares.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";

/// @title See {IEquityToken}.
contract EquityToken is IEquityToken, Governed, Sweepable {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @inheritdoc IEquityToken
    address public immutable escrow;

    /// @inheritdoc IEquityToken
    ICorporateActions public immutable actions;

    /// @inheritdoc IEquityToken
    IEquityShares public immutable sharesImplementation;

    /// @inheritdoc IEquityToken
    mapping(address wallet => bool) public isKyc;

    /// @dev By the name that the owner gave. A freeze binds every name of the equity.
    mapping(bytes32 symbol => mapping(address wallet => bool)) private _isFrozen;

    EnumerableSet.Bytes32Set private _listed;

    constructor(IAuthority authority_, IERC20 usdc_, address pool_, address escrow_, ICorporateActions actions_)
        Governed(authority_)
        Sweepable(usdc_, pool_)
    {
        escrow = escrow_;
        actions = actions_;
        sharesImplementation = new EquityShares(this, actions_, usdc_, pool_);
    }

    modifier onlyPool() {
        require(msg.sender == pool, NotPool(pool, msg.sender));
        _;
    }

    /// @inheritdoc IEquityToken
    function setKyc(address wallet, bool verified) external onlyOwner {
        if (isKyc[wallet] == verified) return;
        isKyc[wallet] = verified;
        emit KycUpdated(wallet, verified);
    }

    /// @inheritdoc IEquityToken
    function setListed(bytes32 symbol, bool listed) external onlyOwner {
        _requireEquity(symbol);
        if (listed) {
            require(!actions.isRetired(symbol), ICorporateActions.SymbolRetired(symbol));
            _createShares(symbol);
        }
        bool changed = listed ? _listed.add(symbol) : _listed.remove(symbol);
        if (changed) emit ListingUpdated(symbol, listed);
    }

    /// @inheritdoc IEquityToken
    function setFrozen(bytes32 symbol, address wallet, bool frozen) external onlyOwner {
        _requireEquity(symbol);
        bytes32[] memory names = actions.namesOf(symbol);
        if (frozen) {
            if (!_isFrozenIn(names, wallet)) _setFrozen(symbol, wallet, true);
            return;
        }
        for (uint256 i = 0; i < names.length; i++) {
            if (_isFrozen[names[i]][wallet]) _setFrozen(names[i], wallet, false);
        }
    }

    /// @inheritdoc IEquityToken
    function retire(bytes32 symbol) external {
        require(msg.sender == address(actions), NotActions(address(actions), msg.sender));
        if (_listed.remove(symbol)) emit ListingUpdated(symbol, false);
    }

    /// @inheritdoc IEquityToken
    function mint(bytes32 symbol, uint256 amount) external onlyPool {
        _requireEquity(symbol);
        _createShares(symbol).mint(amount);
    }

    /// @inheritdoc IEquityToken
    function burn(bytes32 symbol, uint256 amount) external onlyPool {
        sharesOf(symbol).burn(amount);
    }

    /// @inheritdoc IEquityToken
    function sharesOf(bytes32 symbol) public view returns (IEquityShares) {
        return IEquityShares(
            Clones.predictDeterministicAddressWithImmutableArgs(
                address(sharesImplementation), abi.encode(symbol), symbol
            )
        );
    }

    /// @inheritdoc IEquityToken
    function balanceOf(address owner, bytes32 symbol) external view returns (uint256) {
        IEquityShares shares = sharesOf(symbol);
        return _exists(shares) ? shares.balanceOf(owner) : 0;
    }

    /// @inheritdoc IEquityToken
    function totalSupply(bytes32 symbol) external view returns (uint256) {
        IEquityShares shares = sharesOf(symbol);
        return _exists(shares) ? shares.totalSupply() : 0;
    }

    /// @inheritdoc IEquityToken
    function isListed(bytes32 symbol) external view returns (bool) {
        return _listed.contains(symbol);
    }

    /// @inheritdoc IEquityToken
    function listedSymbols() external view returns (bytes32[] memory) {
        return _listed.values();
    }

    /// @inheritdoc IEquityToken
    function isFrozen(bytes32 symbol, address wallet) public view returns (bool) {
        return _isFrozenIn(actions.namesOf(symbol), wallet);
    }

    /// @inheritdoc IEquityToken
    function isCleared(bytes32 symbol, address wallet) external view returns (bool) {
        return wallet == pool || wallet == escrow || (isKyc[wallet] && !isFrozen(symbol, wallet));
    }

    /// @inheritdoc IEquityToken
    function requireTransferable(bytes32 symbol, address spender, address from, address to) external view {
        if (to == escrow && (from == pool || from == escrow)) return;
        bytes32[] memory names = actions.namesOf(symbol);
        if (to == escrow) {
            // The escrow accounts for what it takes itself. Shares that come otherwise would belong to no one.
            _requireCleared(symbol, names, from);
            require(spender == escrow, Errors.NotCleared(escrow));
            return;
        }
        if (from != escrow) {
            _requireCleared(symbol, names, from);
            if (spender != from) _requireCleared(symbol, names, spender);
        }
        _requireCleared(symbol, names, to);
        bool isBetweenWallets = from != pool && from != escrow && to != pool;
        require(!isBetweenWallets || _listed.contains(names[names.length - 1]), NotListed(symbol));
    }

    function _createShares(bytes32 symbol) private returns (IEquityShares shares) {
        shares = sharesOf(symbol);
        if (!_exists(shares)) {
            Clones.cloneDeterministicWithImmutableArgs(address(sharesImplementation), abi.encode(symbol), symbol);
        }
    }

    function _exists(IEquityShares shares) private view returns (bool) {
        return address(shares).code.length > 0;
    }

    function _setFrozen(bytes32 symbol, address wallet, bool frozen) private {
        _isFrozen[symbol][wallet] = frozen;
        emit FreezeUpdated(symbol, wallet, frozen);
    }

    function _isFrozenIn(bytes32[] memory names, address wallet) private view returns (bool) {
        for (uint256 i = 0; i < names.length; i++) {
            if (_isFrozen[names[i]][wallet]) return true;
        }
        return false;
    }

    function _requireCleared(bytes32 symbol, bytes32[] memory names, address wallet) private view {
        if (wallet == pool) return;
        require(isKyc[wallet], Errors.NotCleared(wallet));
        require(!_isFrozenIn(names, wallet), WalletFrozen(symbol, wallet));
    }

    function _requireEquity(bytes32 symbol) private pure {
        Assets.requireName(symbol);
        require(symbol != Assets.USDC, ReservedSymbol(symbol));
    }
}
