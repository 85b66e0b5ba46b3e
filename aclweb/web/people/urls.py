"""The addresses of accounts, of the roles on a cluster, and of API tokens."""

from django.urls import path

from aclweb.web.people import account, accounts, roles, tokens

urlpatterns = [
    path("people/", accounts.index, name="people"),
    path("people/add/", accounts.add, name="account-add"),
    path("people/tokens/", tokens.everybodys, name="all-tokens"),
    path("people/<int:number>/", account.detail, name="account"),
    path("people/<int:number>/act/", account.act, name="account-act"),
    path("people/<int:number>/roles/", account.give_role, name="account-role"),
    path("people/<int:number>/groups/", account.join, name="account-join"),
    path("people/<int:number>/groups/<int:group>/leave/", account.leave, name="account-leave"),
    path("c/<slug:slug>/roles/", roles.index, name="roles"),
    path("c/<slug:slug>/roles/<int:number>/take/", roles.take, name="role-take"),
    path("tokens/", tokens.own, name="tokens"),
    path("tokens/<int:number>/revoke/", tokens.revoke, name="token-revoke"),
]
