"""The commonest function words of German, French, Spanish, Portuguese, Italian, Dutch, Danish with
Norwegian, and Finnish: enough to tell connected text from a row of labels."""

from __future__ import annotations

FUNCTION_WORDS = """
der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren
wird werden wurde wurden hat haben hatte mit von für auf aus bei nach über unter zum zur im am als
auch sich dass wenn sie er es wir ich noch nur wie durch
le la les l' un une des du de d' et ou mais ne pas est sont était étaient a ont avait avec pour par
sur dans aux au en que qui se ce cette ces il elle ils elles nous vous plus comme
el los las unos unas del y o pero no es son fue fueron ha han había con por para sobre sin al que
su sus se lo más como entre desde
os as um uma dos das do da nos nas na e ou mas não é são foi foram tem com por para pelo pela ao
aos mais como
il lo gli i dei delle della dello degli nel nella sono era erano ha hanno con per su tra non che
si come più anche
het een van en of maar niet zijn was waren wordt worden heeft hebben had met voor op uit bij naar
over onder te als ook dat deze die er aan door nog
og eller ikke er var blev blir bliver har havde hadde med fra på til om ved efter etter over under
som at å det denne disse sig seg også kun bare
ja tai mutta ei on oli olivat ovat ole kun että joka jotka sekä myös hän he se ne tämä nämä kuin
"""
