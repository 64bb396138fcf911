from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    b=p.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    for scheme in ("light","dark"):
        pg=b.new_page(viewport={"width":1280,"height":1400}, color_scheme=scheme)
        pg.goto("file:///tmp/wt/scratch/real-jax.html"); pg.wait_for_timeout(2500)
        try:
            n=pg.locator("details summary, .jitscope-headline, [role=button]").count(); print(n)
            pg.locator("text=/equations →/").first.click(timeout=2000)
            pg.wait_for_timeout(1500)
        except Exception as e: print(str(e)[:300])
        pg.screenshot(path=f"/tmp/wt/scratch/jax-{scheme}.png", full_page=True)
        print(pg.evaluate("document.body.scrollHeight"))
    b.close()
