/* SPDX-License-Identifier: MIT */
/* lua.c - for ./redzone bench time: a Lua function that fills tables, joins and matches strings, and sorts. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#include "work.h"

static const char source[] = "local words = {}\n"
			     "for i = 1, 50 do words[i] = ('w%d'):format(i * 37 % 101) end\n"
			     "table.sort(words)\n"
			     "local text, found = table.concat(words, ' '), 0\n"
			     "for word in text:gmatch('%a%d+') do found = found + #word end\n"
			     "return found\n";

void work(unsigned long rounds, unsigned int thread)
{
	lua_State *state = luaL_newstate();

	(void)thread;
	if (!state)
		exit(1);
	luaL_openlibs(state);
	if (luaL_loadstring(state, source) != LUA_OK)
		exit(1);
	while (rounds--) {
		lua_pushvalue(state, -1);
		if (lua_pcall(state, 0, 1, 0) != LUA_OK || lua_tointeger(state, -1) < 100)
			exit(1);
		lua_pop(state, 1);
	}
	lua_close(state);
}
